// The page's script. It runs twice: in the page, where it draws, and in a worker, where it reads the trace.
import { render } from 'preact';
import { App } from './app';
import { addressOf, json } from './blocks';
import type { Facts } from './facts';
import { work } from './worker';

if (typeof document === 'undefined') {
  work();
} else {
  if (addressOf('facts')) document.getElementById('app')!.textContent = 'Asking cairn about the trace; of a large one that takes a while …';
  json<Facts>('facts').then(
    (facts) => {
      const place = document.getElementById('app')!;
      place.textContent = '';
      render(<App facts={facts} />, place);
    },
    (error: Error) => {
      document.getElementById('app')!.textContent = `This report cannot be shown: ${error.message}.`;
    });
}
