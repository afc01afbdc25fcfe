/** The setting of the rate limits. */
import { expect, it } from 'vitest';
import { defaultLimits, type Limit, type LimitSet, readLimits } from './limits.ts';

const all = Object.entries(defaultLimits).flatMap(([name, set]: [string, LimitSet]) =>
  (['address', 'email', 'overall'] as const).flatMap((scope) => {
    const limit: Limit | undefined = set[scope];
    return limit ? [{ name, scope, limit }] : [];
  }),
);

it.each(all)('$name.$scope can be set', ({ name, scope, limit }) => {
  const most = limit.most + 1;
  const set = readLimits(`${name}.${scope}=${most}/${limit.seconds}`);
  expect(set).toEqual({
    limits: {
      ...defaultLimits,
      [name]: { ...defaultLimits[name as keyof typeof defaultLimits], [scope]: { ...limit, most } },
    },
  });
});
