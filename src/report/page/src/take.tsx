// Buttons that take something away from the page, and the line that tells what became of it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { copyText, csvOf, type Rows } from './save';

const kToldFor = 2500;

/** What was done, told for a while; and who is told. */
export function useTold(): [string, (what: Promise<string>) => void] {
  const [said, setSaid] = useState('');
  return [said, (what) => {
    void what.then((text) => {
      setSaid(text);
      setTimeout(() => setSaid(''), kToldFor);
    });
  }];
}

interface Taken {
  /** Of the file, without its ending. */
  name: string;
  csv?: (() => Rows | Promise<Rows>) | undefined;
  said: string;
  tell: (what: Promise<string>) => void;
  /** What stands before the button. */
  children?: ComponentChildren;
}

export function Take({ name, csv, said, tell, children }: Taken) {
  return (
    <>
      <span role="status">{said}</span>
      {children}
      {csv && (
        <button type="button" onClick={() => tell(Promise.resolve(csv()).then((rows) => copyText(`${name}.csv`, csvOf(rows), 'text/csv')))}>CSV</button>
      )}
    </>
  );
}
