import { expect, it } from 'vitest';
import { withoutConnectionHeaders } from './connection-headers.ts';

it('leaves out the headers of the connection and those that Connection names', () => {
  const headers = { connection: 'close, X-Mine', 'x-mine': '1', te: 'trailers', expect: '100-continue', accept: '*/*' };
  expect(withoutConnectionHeaders({ ...headers, cookie: undefined, via: ['a', 'b'] })).toEqual({
    accept: '*/*',
    via: ['a', 'b'],
  });
});
