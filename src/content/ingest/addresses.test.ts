import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../tests/world/runs.ts';
import { linkTarget } from './addresses.ts';

const addresses = { wordpress: 'https://cms.example', site: 'https://sun.example' };

it.each(['//evil.example/login', '///evil.example/login', '/\\evil.example/login', '/.//evil.example/login'])(
  'a link to %s on the site stays on the site',
  (path) => {
    const target = linkTarget(`https://sun.example${path}`, addresses, 'https://cms.example/');
    expect(target).toEqual({ kind: 'site', href: '/evil.example/login' });
  },
);

it('the address of a link to the site leads to the site, whatever its path', () => {
  const part = fc.constantFrom('/', '\\', '.', '..', '\t', '@', ':', '%2f', '%5c', 'evil.example', 'a');
  const host = fc.constantFrom('https://sun.example', 'http://sun.example', '//sun.example', 'https://cms.example', '');
  const path = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(host, path, (start, rest) => {
      const target = linkTarget(start + rest, addresses, 'https://sun.example/');
      if (target?.kind !== 'site' && !(target?.kind === 'wordpress' && target.href.startsWith('/'))) return;
      expect(new URL(target.href, addresses.site).origin).toBe(addresses.site);
    }),
    { numRuns: runs(1000, 20_000) },
  );
});
