// Client: the reader of one trace, in a worker, so that the page stays quick while it works.
import { addressOf, has, sizeOf, take, unzipped } from './blocks';
import type { Asks, Messages, MessagesAsked, Method, Opened, TraceGiven } from './protocol';

const kMostMessages = 1e6;
/** A worker that nobody asked for so long is let go, with its memory. */
const kIdleMs = 20_000;
/** A larger trace beside the page is fetched in parts. */
const kMostFetched = 1e6;

interface Waiting {
  method: Method;
  resolve: (value: never) => void;
  reject: (reason: Error) => void;
}

/** Asked for something newer meanwhile: nobody waits for this any more. */
export class Outdated extends Error {}

/** What the reader does for each question. */
const kDoings: Record<Method, string> = {
  open: 'opening the trace',
  strip: 'adding up times',
  drawn: 'looking up calls',
  calls: 'looking through calls',
  callAt: 'looking for a call',
  matrix: 'adding up who sends to whom',
  pairs: 'adding up who sends to whom',
  messages: 'matching messages',
};

export class Client {
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private running = 0;
  /** Told what it begins to do, and '' when it has nothing more to do. */
  onBusy: (doing: string) => void = () => {};
  private queue: { id: number; method: Method; ask: object }[] = [];
  opened!: Opened;

  private worker: Worker;

  private constructor(private readonly readerBytes: Uint8Array<ArrayBuffer>, private readonly trace: TraceGiven) {
    this.worker = this.started();
  }

  private started(): Worker {
    const script = (document.getElementById('script') as HTMLScriptElement).src;
    const worker = new Worker(script);
    worker.onmessage = (event: MessageEvent<{ id: number; answer?: never; error?: string }>) => {
      const { id, answer, error } = event.data;
      const one = this.waiting.get(id);
      this.waiting.delete(id);
      --this.running;
      this.start();
      if (!one) return;
      if (error !== undefined) one.reject(new Error(error));
      else one.resolve(answer!);
    };
    worker.onerror = (event) => this.fail(new Error(event.message || 'the reader stopped'));
    worker.postMessage({ reader: this.readerBytes, trace: this.trace });
    return worker;
  }

  /** Whatever is being worked on gets no answer; the trace is opened anew. */
  stop(): void {
    this.worker.terminate();
    this.running = 0;
    this.fail(new Error('stopped; choose a view, or a smaller part of the run'));
    this.worker = this.started();
    this.onBusy('');
  }

  private fail(error: Error): void {
    for (const one of this.waiting.values()) one.reject(error);
    this.waiting.clear();
    this.queue = [];
  }

  private start(): void {
    const first = this.running === 0 ? this.queue.shift() : undefined;
    if (!first) {
      if (this.running === 0) this.onBusy('');
      return;
    }
    ++this.running;
    this.onBusy(kDoings[first.method]);
    this.worker.postMessage(first);
  }

  /** `latest`: what was asked in the same way and has not begun is not needed any more. */
  ask<M extends Method>(method: M, ask: Asks[M]['ask'], latest = false): Promise<Asks[M]['answer']> {
    if (latest) {
      this.queue = this.queue.filter((one) => {
        if (one.method !== method) return true;
        this.waiting.get(one.id)?.reject(new Outdated());
        this.waiting.delete(one.id);
        return false;
      });
    }
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { method, resolve: resolve as (value: never) => void, reject });
      this.queue.push({ id, method, ask });
      this.start();
    });
  }

  /** The messages of the run, by a worker of their own, which takes a while. */
  messages(): Promise<Messages> {
    this.matched ??= this.match();
    return this.matched;
  }
  private matched: Promise<Messages> | null = null;

  private async match(): Promise<Messages> {
    const other = await Client.of(this.trace);
    try {
      return await other.ask('messages', { ranks: null, begin: 0, end: Infinity, most: kMostMessages, mostBefore: Infinity });
    } finally {
      other.worker.terminate();
    }
  }

  /** Those of a part of it, by a worker that is kept for a while. Whoever asks again is answered instead. */
  async messagesOf(ask: MessagesAsked): Promise<Messages> {
    ++this.asking;
    clearTimeout(this.idle);
    this.matcher ??= Client.of(this.trace);
    try {
      return await (await this.matcher).ask('messages', ask, true);
    } finally {
      if (--this.asking === 0) this.idle = setTimeout(() => this.letGo(), kIdleMs);
    }
  }
  private matcher: Promise<Client> | null = null;
  private asking = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;

  private letGo(): void {
    void this.matcher?.then((one) => one.worker.terminate(), () => {});
    this.matcher = null;
  }

  private static async of(trace: TraceGiven): Promise<Client> {
    const client = new Client(await readerBytes(), trace);
    client.opened = await client.ask('open', {});
    return client;
  }

  /** The trace of that number, if the page carries it. */
  static async open(which: number): Promise<Client> {
    const id = `trace${which}`;
    if (!has(id) || !has('reader')) throw new Error('this page carries no trace');
    const size = sizeOf(id);
    return Client.of(addressOf(id) && size > kMostFetched ? { address: addressOf(id), size } : await take(id));
  }
}

let reader: Promise<Uint8Array<ArrayBuffer>> | null = null;
function readerBytes(): Promise<Uint8Array<ArrayBuffer>> {
  reader ??= take('reader').then(unzipped);
  return reader;
}
