import { expect, it } from 'vitest';
import { templateOf } from './outgoing.ts';
import { routeOf } from './routes.ts';

it.each([
  ['/', '/'],
  ['/latest', '/latest'],
  ['/article/ada-lovelace-dies', '/article/{name}'],
  ['/article/ada/comments', '/article/{name}/comments'],
  ['/gift/aVerySecretToken', '/gift/{name}'],
  ['/section/politics', '/section/{name}'],
  ['/games', '/games'],
  ['/api/v1/me/saved', '/api/v1/me/saved'],
  ['/api/v1/articles/123', '/api/v1/articles/{id}'],
  ['/blaize/oauth/aB3dEf6hIjKlMnOpQrStUvWxYz012345', '/blaize/oauth/{id}'],
  ['/account/ada@example.com', '/account/{id}'],
  ['/ada@example.com', null],
  ['/ada-lovelace', null],
  ['/wp-login.php', null],
])('a request for %s is traced with the route %s', (path, route) => {
  expect(routeOf(path)).toBe(route);
});

it.each([
  ['/wp-json/wp/v2/articles/12', '/wp-json/wp/v2/articles/{id}'],
  ['/v1/customers/cus_Ab12', '/v1/customers/{id}'],
  ['/v1/payment_intents', '/v1/payment_intents'],
  ['/check/ada@example.com', '/check/{id}'],
])('an outgoing call to %s is traced as %s', (path, template) => {
  expect(templateOf(path)).toBe(template);
});
