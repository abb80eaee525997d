// The blocks of bytes that the page carries: what the verbs said, the reader, the traces.
import { bytesOf } from './seven';

function element(id: string): HTMLElement | null {
  return document.getElementById(id);
}

export function has(id: string): boolean {
  return element(id) !== null;
}

/** The block as it lies in the page; the element is emptied, so that its text takes no memory. */
export function take(id: string): Uint8Array<ArrayBuffer> {
  const block = element(id);
  if (!block) throw new Error(`the page has no block "${id}"`);
  const bytes = bytesOf(block.textContent ?? '', Number(block.dataset['bytes']));
  block.textContent = '';
  return bytes;
}

export async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function json<T>(id: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await unzipped(take(id)))) as T;
}
