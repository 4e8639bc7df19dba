import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** What a client can do to the catalog. */
export type Operation = 'get' | 'list' | 'update' | 'create' | 'delete';

/** The memory of a process at some time of a run. */
export interface MemorySample {
  readonly second: number;
  readonly megabytes: number;
}

const microsecondsPerMs = 1000;

/** Counts answers and collects how long they took, by operation. */
export class Measurements {
  readonly #histograms = new Map<Operation, RecordableHistogram>();
  readonly #all = createHistogram();

  /**
   * @param operation - what was asked for
   * @param durationMs - from the start of the request to the end of its answer
   */
  record(operation: Operation, durationMs: number): void {
    const histogram = this.#histograms.get(operation) ?? createHistogram();
    this.#histograms.set(operation, histogram);
    const microseconds = Math.max(1, Math.round(durationMs * microsecondsPerMs));
    histogram.record(microseconds);
    this.#all.record(microseconds);
  }

  /** How many answers came. */
  get count(): number {
    return this.#all.count;
  }

  /**
   * Formats the figures as a table, an operation a line.
   *
   * @param seconds - how long the run took
   */
  format(seconds: number): string {
    const lines = [...this.#histograms].sort(([, a], [, b]) => b.count - a.count);
    const rows = [...lines, ['all', this.#all] as const].map(([name, histogram]) =>
      [
        name.padEnd(8),
        String(histogram.count).padStart(9),
        (histogram.count / seconds).toFixed(1).padStart(10),
        ...[50, 99, 100].map((percentile) => formatMs(histogram.percentile(percentile)).padStart(10)),
      ].join(''),
    );
    return [`${''.padEnd(8)}  requests  a second    p50 ms    p99 ms    max ms`, ...rows].join('\n');
  }
}

function formatMs(microseconds: number): string {
  return (microseconds / microsecondsPerMs).toFixed(1);
}
