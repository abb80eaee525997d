// What every view is given: what the verbs said, and the reader of the trace once it has opened.
import type { Facts, TraceFacts } from './facts';
import type { Client } from './client';

export interface Context {
  facts: Facts;
  /** The first trace. */
  trace: TraceFacts;
  /** Null while the trace is being opened. */
  client: Client | null;
  /** Why it cannot be read. */
  trouble: string;
}
