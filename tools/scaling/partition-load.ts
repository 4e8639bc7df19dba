import type { ItemKey } from '../../lib/dynamodb/keys.ts';

/** One request to DynamoDB, as far as capacity is concerned. */
export interface Access {
  readonly key: ItemKey;
  readonly bytes: number;
  readonly kind: 'read' | 'write';
}

/** "Best practices for designing and using partition keys": units a second that one partition takes. */
const partitionLimits = { read: 3_000, write: 1_000 };

/** What one unit stands for: a strongly consistent read of 4 KB, a write of 1 KB. */
const bytesPerUnit = { read: 4 * 1024, write: 1024 };

/** The partitions of a table in one second. Every partition key is one partition, as it is in the worst case. */
export class PartitionLoad {
  readonly #units = new Map<string, number>();
  #busiestShare = 0;
  #busiest = { shard: Number.NaN, kind: 'read' as Access['kind'] };

  /** @param access - a request that is made in this second */
  add({ key, bytes, kind }: Access): void {
    const name = `${key.shard} ${kind}`;
    const units = (this.#units.get(name) ?? 0) + Math.max(1, Math.ceil(bytes / bytesPerUnit[kind]));
    this.#units.set(name, units);
    const share = units / partitionLimits[kind];
    if (share <= this.#busiestShare) return;
    this.#busiestShare = share;
    this.#busiest = { shard: key.shard, kind };
  }

  /** How much of its limit the busiest partition uses; above 1, DynamoDB refuses requests. */
  get busiestShare(): number {
    return this.#busiestShare;
  }

  /** The partition key that is nearest to its limit, and the limit. */
  get busiest(): { readonly shard: number; readonly kind: Access['kind'] } {
    return this.#busiest;
  }
}
