import { describe, expect, it } from 'vitest';
import { createTurnstile } from './turnstile.server.ts';

const rules = { perHour: 240, perBlock: 10 };
const hour = 3_600_000;

describe('the turnstile of readings', () => {
  it('lets a thousand requests of one address count once a day', () => {
    let now = Date.UTC(2026, 10, 21, 1);
    const turnstile = createTurnstile(rules, () => now);
    const passed = () =>
      Array.from({ length: 1000 }, () => turnstile.pass(7, '203.0.113.9')).filter((one) => one === 'passed');
    expect(passed()).toHaveLength(1);
    expect(turnstile.pass(8, '203.0.113.9')).toBe('passed');
    expect(turnstile.pass(7, '203.0.113.10')).toBe('passed');
    now += 22 * hour;
    expect(passed()).toHaveLength(0);
    now += hour;
    expect(passed()).toHaveLength(1);
  });

  it('takes all addresses of one IPv6 connection for a few', () => {
    const turnstile = createTurnstile(rules, () => 0);
    const nets = Array.from({ length: 500 }, (_, index) => `2001:db8:1:${index.toString(16)}::1`);
    expect(nets.filter((address) => turnstile.pass(7, address) === 'passed')).toHaveLength(rules.perBlock);
    expect(turnstile.pass(7, '2001:db8:1:1::2')).toBe('again');
    expect(turnstile.pass(7, '2001:db8:2::1')).toBe('passed');
  });

  it('bounds what one address may call within an hour', () => {
    let now = 0;
    const turnstile = createTurnstile(rules, () => now);
    const within = () => Array.from({ length: 1000 }, () => turnstile.within('203.0.113.9')).filter(Boolean).length;
    expect(within()).toBe(rules.perHour);
    expect(turnstile.within('203.0.113.10')).toBe(true);
    now = hour;
    expect(within()).toBe(rules.perHour);
  });

  it('remembers a bounded number of readings, the newest', () => {
    const turnstile = createTurnstile({ ...rules, remembered: 2000 }, () => 0);
    expect(turnstile.pass(0, '203.0.113.9')).toBe('passed');
    for (let article = 1; article <= 2500; article++) turnstile.pass(article, '203.0.113.9');
    expect(turnstile.pass(2500, '203.0.113.9')).toBe('again');
    expect(turnstile.pass(1501, '203.0.113.9')).toBe('again');
    expect(turnstile.pass(0, '203.0.113.9')).toBe('passed');
  });
});
