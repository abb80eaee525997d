// What the verbs said of the trace when the report was written, each as its --json (man pages tell the fields), with
// long lists cut ("further": how many were), lists of ranks as text, and what they said beside ("said": src/report/facts.h).

export interface Place {
  function: string;
  site: string;
  file: string | null;
  line: number | null;
}

export interface Info {
  command: string;
  status: string;
  start: string;
  wall_seconds: number;
  hosts: string[];
  mpi: string;
  recorder: string;
  ranks: number;
  world_size: number;
  threads: number;
  calls: number;
  functions: number;
  failed_calls: number;
  signatures: number;
  classes: number;
  communicators: number;
  timing: string;
  incomplete_ranks: unknown[] | string;
  degraded: { reason: string; ranks: string }[];
  bytes: Record<string, number>;
  /** Where ranks were that did not end. */
  pending?: { ranks: string; thread: number; inside: boolean; function: string; about?: string; site: string; seconds: { least: number; most: number } | null }[];
}

export interface RankValue {
  rank: number;
  seconds: number;
  is_estimate: boolean;
}

export interface SummaryLine {
  function: string;
  site?: string;
  file?: string | null;
  line?: number | null;
  calls: number;
  failed: number;
  bytes: number | null;
  seconds: number | null;
  share_of_mpi: number | null;
  share_of_run: number | null;
  mean_seconds: number | null;
  median_seconds: number | null;
  p95_seconds: number | null;
  p99_seconds: number | null;
  percentile_error: number | null;
  max_seconds: number | null;
  ranks: number;
  imbalance: number | null;
  imbalance_is_estimate: boolean;
  least: RankValue | null;
  most: RankValue | null;
}

export interface Summary {
  calls: number;
  failed_calls: number;
  run_seconds: number | null;
  outside_seconds: number | null;
  mpi_seconds: number | null;
  init_finalize_seconds: number | null;
  times_are: string;
  mpi_imbalance: number | null;
  outside_imbalance: number | null;
  slowest_rank: { rank: number; outside_seconds: number | null } | null;
  lines: SummaryLine[];
  grows_with_ranks: { function: string; [field: string]: unknown }[];
  lines_further?: number;
  kernels?: KernelUse[];
  kernels_further?: number;
}

/** The launches of one GPU kernel; times are of those of which it is known when they ran. */
export interface KernelUse {
  kernel: string;
  launches: number;
  timed: number;
  ran_ns: number | null;
  mean_ns: number | null;
  longest_ns: number | null;
  mean_queued_ns: number | null;
}

export interface LoopItem {
  function?: string;
  place: string;
  times: number;
  turns: number;
  least_turns: number;
  most_turns: number;
  calls_a_turn: number;
  bytes_a_turn: number;
  bytes_known: boolean;
  seconds_a_turn: number | null;
  is_time_step: boolean;
  further_turns?: number;
  body?: LoopItem[];
  body_further?: number;
}

export interface LoopKind {
  ranks: string;
  thread: number;
  calls: number;
  items: LoopItem[];
  items_further?: number;
}

export interface Loops {
  times_are: string;
  kinds: LoopKind[];
  kinds_further?: number;
}

export interface Spread {
  mean: number;
  least: number;
  least_on: number;
  most: number;
  most_on: number;
  most_over_mean: number;
  percent_imbalance: number;
}

export interface Spreads {
  calls: Spread;
  bytes: Spread;
  outside_seconds?: Spread;
  mpi_seconds?: Spread;
}

export interface RankClass extends Spreads {
  ranks: string;
  threads: number;
  similar: unknown;
  differences: unknown[];
}

export interface RankLine {
  rank: number;
  class: number;
  outside_seconds?: number | null;
  mpi_seconds?: number | null;
  bytes: number;
  calls: number;
  host?: string;
}

export interface Ranks {
  all: Spreads;
  classes: RankClass[];
  further_classes: number;
  ranks: RankLine[];
  ranks_further?: number;
}

export interface Moment {
  seconds: number;
  rank: number;
}

export interface Phase {
  what: string;
  place: string;
  turns: string | null;
  note: string;
  calls: number;
  bytes: number;
  mean_seconds: number | null;
  mpi_seconds: number | null;
  most_in: string | null;
  first_begin: Moment | null;
  last_end: Moment | null;
  a_turn: {
    turns: number;
    mean_seconds: number;
    least_seconds: number;
    most_seconds: number;
    most_turn: number;
    most_rank: number;
    first_tenth_seconds: number;
    last_tenth_seconds: number;
  } | null;
  on: { ranks: string; turns: string | null; calls: number }[];
  lacking: string;
}

export interface Phases {
  each_timed: boolean;
  phases: Phase[];
}

export interface SizeBar {
  least: number;
  most: number;
  messages?: number;
  calls?: number;
  share: number;
  bytes: number;
}

export interface Sizes {
  exact: boolean;
  groups: { name: string; collective: boolean; messages?: number; calls?: number; bytes: number; sizes: SizeBar[] }[];
}

export interface Activity {
  doing: string;
  place: Place | null;
}

export interface Waits {
  run_seconds: number;
  waited_seconds: number;
  kinds: { kind: string; seconds: number; share_of_run: number; count: number }[];
  lines: {
    kind: string;
    seconds: number;
    share_of_run: number;
    count: number;
    longest_seconds: number;
    longest_rank: number;
    longest_call: number;
    longest_for_rank: number | null;
    in: Place;
    for: Place | null;
  }[];
  causes: {
    seconds: number;
    share_of_waits: number;
    ranks: number;
    rank: number;
    rank_seconds: number;
    activity: Activity;
  }[];
  ranks: {
    rank: number;
    seconds: number;
    outside_seconds: number;
    mpi_seconds: number;
    waited_seconds: number;
    waited_share: number;
    blamed_seconds: number;
    path_seconds: number;
    by_kind: Record<string, number>;
  }[];
  ranks_further?: number;
}

export interface Path {
  run_seconds: number;
  path_seconds: number;
  ends_on_rank: number;
  activities: {
    seconds: number;
    share_of_path: number;
    mean_seconds: number;
    excess_seconds: number;
    rank: number;
    rank_seconds: number;
    activity: Activity;
  }[];
  ranks: { rank: number; seconds: number; share_of_path: number; run_seconds: number }[];
}

export interface Efficiency {
  run_seconds: number;
  ideal_seconds: number | null;
  mean_outside_seconds: number;
  most_outside_rank: number;
  parallel: number | null;
  load_balance: number | null;
  communication: number | null;
  serialisation: number | null;
  transfer: number | null;
}

export interface Check {
  kinds: string[];
  not_judged: unknown[];
  more: number;
  findings: {
    kind: string;
    sure: boolean;
    text: string;
    count: number;
    ranks: string;
    call: Place;
    first: Record<string, unknown>;
    other_call: Place | null;
  }[];
}

/** A verb that could not answer: what it said, on one line. */
export interface Refusal {
  refused: string;
}

export interface SourceFile {
  file: string;
  /** The first line that is told, from 1; all of a file that is short. */
  first: number;
  lines: string[];
  /** It was written after the run had ended: its lines may be others. */
  changed?: boolean;
}

/** A launch of a GPU kernel, as `cairn gpu launches` has it. */
export interface Launch {
  launch: number;
  rank: number;
  kernel: string;
  grid: string;
  block: string;
  device: number;
  stream: number;
  thread: number | null;
  calls_before: number | null;
  made_ns: number | null;
  begin_ns: number | null;
  queued_ns: number | null;
  duration_ns: number | null;
}

export interface Launches {
  launches: Launch[];
  launches_further?: number;
}

/** How a kernel's blocks kept multiprocessors busy, as `cairn gpu blocks` has it. */
export interface KernelBlocks {
  kernel: string;
  launches: number;
  blocks: number;
  multiprocessors: { used: number; available: number };
  mean_cycles: number;
  mean_block_cycles: number | null;
  shortest_block_cycles: number | null;
  longest_block_cycles: number;
  busy: number | null;
  balance: number | null;
  idle_at_end: number | null;
  lost_cycles: number;
}

/** An access to memory, as `cairn gpu accesses` has it. */
export interface Access {
  kernel: string;
  function?: string;
  file?: string;
  line?: number;
  memory: string;
  requests: number;
  lanes: number;
  bytes: number;
  sectors?: number;
  wavefronts?: number;
  least?: number;
  efficiency?: number;
}

export interface TraceFacts {
  file: string;
  bytes: number;
  info: Info | Refusal;
  summary: Summary | Refusal;
  callsites: Summary | Refusal;
  loops: Loops | Refusal;
  ranks: Ranks | Refusal;
  phases: Phases | Refusal;
  sizes: Sizes | Refusal;
  waits: Waits | Refusal;
  path: Path | Refusal;
  efficiency: Efficiency | Refusal;
  check: Check | Refusal;
  gpu: Record<string, unknown> | Refusal;
  launches: Launches | Refusal;
  blocks: { kernels: KernelBlocks[]; kernels_further?: number } | Refusal;
  accesses: { accesses: Access[]; accesses_further?: number } | Refusal;
  sources: SourceFile[];
}

export interface Facts {
  schema: string;
  cairn: string;
  written: string;
  traces: TraceFacts[];
  diff: Record<string, unknown> | Refusal | null;
}

export function told<T extends object>(fact: T | Refusal | undefined): T | null {
  return fact === undefined || 'refused' in fact ? null : fact;
}

/** What verbs said that their answers lack, each once; not what other words of `cairn record` would have told as well. */
export function lacks(facts: object): string[] {
  const all = Object.values(facts).flatMap((fact) => (fact && typeof fact === 'object' && 'said' in fact ? (fact.said as string[]) : []));
  return [...new Set(all.filter((line) => !line.includes('; record with ')))];
}

export function refusal(fact: object | undefined): string {
  return fact && 'refused' in fact ? String((fact as Refusal).refused) : '';
}
