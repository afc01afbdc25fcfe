import { describe, expect, it } from 'vitest';
import { createFirstReadings } from './first-readings.server.ts';

const rules = { perBlock: 10 };
const hour = 3_600_000;

describe('the filter of repeated readings', () => {
  it('counts only one of a thousand readings of an article from one address, until about a day later', () => {
    let now = Date.UTC(2026, 10, 21, 1);
    const readings = createFirstReadings(rules, () => now);
    const passed = () =>
      Array.from({ length: 1000 }, () => readings.check(7, '203.0.113.9')).filter((one) => one === 'first');
    expect(passed()).toHaveLength(1);
    expect(readings.check(8, '203.0.113.9')).toBe('first');
    expect(readings.check(7, '203.0.113.10')).toBe('first');
    now += 22 * hour;
    expect(passed()).toHaveLength(0);
    now += hour;
    expect(passed()).toHaveLength(1);
  });

  it('counts at most ten readings of an article from one IPv6 connection', () => {
    const readings = createFirstReadings(rules, () => 0);
    const nets = Array.from({ length: 500 }, (_, index) => `2001:db8:1:${index.toString(16)}::1`);
    expect(nets.filter((address) => readings.check(7, address) === 'first')).toHaveLength(rules.perBlock);
    expect(readings.check(7, '2001:db8:1:1::2')).toBe('again');
    expect(readings.check(7, '2001:db8:2::1')).toBe('first');
  });

  it('remembers a limited number of readings and forgets the oldest', () => {
    const readings = createFirstReadings({ ...rules, remembered: 2000 }, () => 0);
    expect(readings.check(0, '203.0.113.9')).toBe('first');
    for (let article = 1; article <= 2500; article++) readings.check(article, '203.0.113.9');
    expect(readings.check(2500, '203.0.113.9')).toBe('again');
    expect(readings.check(1501, '203.0.113.9')).toBe('again');
    expect(readings.check(0, '203.0.113.9')).toBe('first');
  });
});
