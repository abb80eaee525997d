// What runs first: unpacks the page's own script and starts it. Small, since its hash is what the page's content
// security policy trusts; all else comes out of the page itself, as a blob.
import { bytesOf } from './seven';

async function unpacked(id: string): Promise<ArrayBuffer> {
  const block = document.getElementById(id)!;
  const packed = new Blob([bytesOf(block.textContent!, Number(block.dataset['bytes']))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

async function start(): Promise<void> {
  if (typeof DecompressionStream === 'undefined' || typeof WebAssembly === 'undefined')
    throw new Error('this browser is too old; any from 2023 on shows it');
  const script = URL.createObjectURL(new Blob([await unpacked('page')], { type: 'text/javascript' }));
  await new Promise<void>((resolve, reject) => {
    const element = document.createElement('script');
    element.src = script;
    element.id = 'script';
    element.onload = () => resolve();
    element.onerror = () => reject(new Error('this browser does not let the page run its own script'));
    document.head.append(element);
  });
}

start().catch((error: unknown) => {
  document.getElementById('app')!.textContent = `This report cannot be shown: ${(error as Error).message}.`;
});
