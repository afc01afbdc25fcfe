import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listen, send } from '../../../tests/world/fast-path.ts';
import { readHead } from './fast-path.ts';

/** Whole numbers below a bound, the same ones in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it('the fast path reads every request head that it accepts exactly as node:http does', async () => {
  const pick = numbers(20_261_121);
  const parts = [
    'GET',
    'get',
    'HEAD',
    ' ',
    '  ',
    '/',
    '/article/a',
    '/a?b=c',
    '*',
    '#',
    'HTTP/1.1',
    'HTTP/1.0',
    '\r\n',
    '\n',
    '\r',
    '\t',
    ':',
    ': ',
    'Host',
    'host',
    'a',
    'Accept-Encoding',
    'gzip',
    'br;q=0',
    'If-None-Match',
    '*',
    'Cookie',
    'Content-Length',
    '0',
    'Connection',
    'keep-alive',
    'Transfer-Encoding',
    'chunked',
    '\0',
    '\x7f',
    '\xe9',
    '"',
    ',',
    ';',
    'Expect',
    'User-Agent',
    '100-continue',
  ] as const;
  const whole = [
    'GET',
    ' ',
    '/article/a',
    ' ',
    'HTTP/1.1',
    '\r\n',
    'Host',
    ': ',
    'a',
    '\r\n',
    'Accept-Encoding',
    ': ',
    'gzip',
    '\r\n',
    'Cookie',
    ': ',
    'a',
    '\r\n',
    '\r\n',
  ];
  let understood = 0;
  for (let round = 0; round < 400; round++) {
    const request = [...whole];
    for (let change = pick(3); change >= 0; change--) {
      const at = pick(request.length);
      const part = parts[pick(parts.length)] ?? '';
      if (pick(3) === 0) request.splice(at, 1);
      else request.splice(at, pick(2), part);
    }
    const head = request.join('');
    const parsed = readHead(head);
    if (!parsed) continue;
    understood++;
    // Whatever the fast path understands, node:http must parse as exactly one request with the same meaning.
    const seen: unknown[] = [];
    const peer = createServer((incoming, outgoing) => {
      const { url, headers, method } = incoming;
      seen.push([
        method,
        url,
        headers['accept-encoding'],
        headers['if-none-match'],
        headers.cookie,
        headers['user-agent'],
      ]);
      outgoing.end('received');
    });
    await listen(peer);
    const answers = await send(peer, head);
    peer.closeAllConnections();
    peer.close();
    expect(
      answers.map(({ status }) => status),
      JSON.stringify(head),
    ).toEqual([200]);
    const { target, headers } = parsed;
    expect(seen, JSON.stringify(head)).toEqual([
      ['GET', target, headers['accept-encoding'], headers['if-none-match'], headers.cookie, headers['user-agent']],
    ]);
  }
  expect(understood).toBeGreaterThan(40);
});
