import { expect, it } from 'vitest';
import { candidates, releaseOf } from './java.ts';

it('Java is looked for in JAVA_HOME first, then on the PATH, then in its usual place', () => {
  const there = new Set(['/opt/jdk/bin/java', '/usr/bin/java']);
  const env = { JAVA_HOME: '/opt/jdk', PATH: '/usr/local/bin:/usr/bin' };
  expect(candidates(env, (path) => there.has(path))[0]).toBe('/opt/jdk/bin/java');
  expect(candidates({ PATH: '/usr/local/bin' }, (path) => there.has(path))).toEqual(['/usr/bin/java']);
  expect(candidates(env, () => false)).toEqual([]);
});

it.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_401"', 8],
  ['The operation couldn’t be completed. Unable to locate a Java Runtime.', null],
])('the Java release in “%s” is read as %s', (output, release) => {
  expect(releaseOf(output)).toBe(release);
});
