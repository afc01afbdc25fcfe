import { describe, expect, it } from 'vitest';
import { createGate } from './gate.server.ts';

const rules = { perMinute: 20, perBlock: 60 };

describe('the gate of the search', () => {
  it('lets a network ask so often within a minute, and says when it may again', () => {
    let now = 12_000;
    const gate = createGate(rules, () => now);
    const answers = Array.from({ length: 50 }, () => gate.admit('203.0.113.9'));
    expect(answers.filter((answer) => answer === null)).toHaveLength(rules.perMinute);
    expect(answers.at(-1)).toBe(48);
    expect(gate.admit('203.0.113.10')).toBeNull();
    now = 59_999;
    expect(gate.admit('203.0.113.9')).toBe(1);
    now = 60_000;
    expect(gate.admit('203.0.113.9')).toBeNull();
  });

  it('takes the addresses of one household for one, and those of one IPv6 connection for a few', () => {
    const gate = createGate(rules, () => 0);
    const household = Array.from({ length: 50 }, (_, index) => gate.admit(`2001:db8:1:1::${index.toString(16)}`));
    expect(household.filter((answer) => answer === null)).toHaveLength(rules.perMinute);
    const connection = Array.from({ length: 500 }, (_, index) => gate.admit(`2001:db8:2:${index.toString(16)}::1`));
    expect(connection.filter((answer) => answer === null)).toHaveLength(rules.perBlock);
    expect(gate.admit('2001:db8:3::1')).toBeNull();
  });
});
