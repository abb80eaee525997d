// The worker's side: answers what client.ts asks, with the reader that it was given first.
import type { Asks, Method } from './protocol';

export function work(): void {
  let begun: Promise<never> | null = null;
  onmessage = (event: MessageEvent<{ id?: number; method?: Method; ask?: Asks[Method]['ask'] }>) => {
    if (event.data.id === undefined) { begun = Promise.reject(new Error('no reader yet')); begun.catch(() => {}); return; }
    const id = event.data.id;
    begun!.catch((error: Error) => postMessage({ id, error: error.message }));
  };
}
