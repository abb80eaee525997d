// The blocks of bytes that the page carries: what the verbs said, the reader, the traces.
import { bytesOf } from './seven';

function element(id: string): HTMLElement | null {
  return document.getElementById(id);
}

export function has(id: string): boolean {
  return element(id) !== null;
}

/** Where the block is to be fetched from; '' if the page has it. */
export function addressOf(id: string): string {
  const address = element(id)?.dataset['address'];
  return address ? new URL(address, location.href).href : '';
}

/** Bytes of the block, wherever it lies. */
export function sizeOf(id: string): number {
  return Number(element(id)?.dataset['bytes'] ?? 0);
}

/** The block as it lies in the page, whose element is emptied, so that its text takes no memory; or as it is fetched. */
export async function take(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const block = element(id);
  if (!block) throw new Error(`the page has no block "${id}"`);
  const address = addressOf(id);
  if (address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`cairn serve does not answer any more (${answer.status}); start it again`);
    return new Uint8Array(await answer.arrayBuffer());
  }
  const bytes = bytesOf(block.textContent ?? '', Number(block.dataset['bytes']));
  block.textContent = '';
  return bytes;
}

export async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function json<T>(id: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await unzipped(await take(id)))) as T;
}
