/* Stands in for libcairn.so where only what `cairn record` itself does is tested. */
int cairn_nothing(void);
int cairn_nothing(void) { return 0; }
