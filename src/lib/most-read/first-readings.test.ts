import { describe, expect, it } from 'vitest';
import { createFirstReadings } from './first-readings.server.ts';

const rules = { perBlock: 10 };
const hour = 3_600_000;

describe('the filter of repeated readings', () => {
  it('counts only one of a thousand readings of an article from one address, until about a day later', () => {
    let now = Date.UTC(2026, 10, 21, 1);
    const readings = createFirstReadings(rules, () => now);
    const passed = () =>
      Array.from({ length: 1000 }, () => readings.pass(7, '203.0.113.9')).filter((one) => one === 'passed');
    expect(passed()).toHaveLength(1);
    expect(readings.pass(8, '203.0.113.9')).toBe('passed');
    expect(readings.pass(7, '203.0.113.10')).toBe('passed');
    now += 22 * hour;
    expect(passed()).toHaveLength(0);
    now += hour;
    expect(passed()).toHaveLength(1);
  });

  it('counts at most ten readings of an article from one IPv6 connection', () => {
    const readings = createFirstReadings(rules, () => 0);
    const nets = Array.from({ length: 500 }, (_, index) => `2001:db8:1:${index.toString(16)}::1`);
    expect(nets.filter((address) => readings.pass(7, address) === 'passed')).toHaveLength(rules.perBlock);
    expect(readings.pass(7, '2001:db8:1:1::2')).toBe('again');
    expect(readings.pass(7, '2001:db8:2::1')).toBe('passed');
  });

  it('remembers a limited number of readings and forgets the oldest', () => {
    const readings = createFirstReadings({ ...rules, remembered: 2000 }, () => 0);
    expect(readings.pass(0, '203.0.113.9')).toBe('passed');
    for (let article = 1; article <= 2500; article++) readings.pass(article, '203.0.113.9');
    expect(readings.pass(2500, '203.0.113.9')).toBe('again');
    expect(readings.pass(1501, '203.0.113.9')).toBe('again');
    expect(readings.pass(0, '203.0.113.9')).toBe('passed');
  });
});
