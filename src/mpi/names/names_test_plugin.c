// A shared object for tests: gives an address of its code and one of its data.
int names_plugin_data[16] = {1};

__attribute__((noinline)) static void *here(void) { return __builtin_return_address(0); }

void *names_plugin_site(void) {
  void *address = here();
  __asm__ volatile("" : "+r"(address));  // not a tail call
  return address;
}
