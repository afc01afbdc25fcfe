/** Windows in the memory of one process, bounded: the least recently used is forgotten first. */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Limit } from './model.ts';

/** Windows of one limit remembered at most: a flood from many networks must not fill the memory. */
const mostRemembered = 20_000;

export class MemoryWindows extends RateLimiterMemory {
  /** Keys in the order of their last use. */
  readonly #used = new Set<string>();
  readonly #most: number;

  constructor({ most, seconds }: Limit, remembered = mostRemembered) {
    super({ points: most, duration: seconds, keyPrefix: '' });
    this.#most = remembered;
  }

  override consume(key: string, points?: number): Promise<RateLimiterRes> {
    this.#used.delete(key);
    this.#used.add(key);
    if (this.#used.size > this.#most) {
      const [oldest = ''] = this.#used;
      this.#used.delete(oldest);
      void this.delete(oldest);
    }
    return super.consume(key, points);
  }

  /** Takes back what was counted; what was not counted here gives no credit. */
  override async reward(key: string, points?: number): Promise<RateLimiterRes> {
    const counted = await this.get(key);
    return counted && counted.consumedPoints > 0 ? super.reward(key, points) : super.penalty(key, 0);
  }
}
