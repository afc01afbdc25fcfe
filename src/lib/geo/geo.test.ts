import { expect, it } from 'vitest';
import { cityOf, countryOf, createGeo } from './geo.server.ts';

const headers = new Headers({ 'cf-ipcountry': 'US', 'cf-ipcity': 'New York' });

it('a reader’s place is read only from the headers that the settings name', () => {
  const geo = createGeo({ countryHeader: 'cf-ipcountry', cityHeader: 'cf-ipcity' });
  expect(geo.locate('203.0.113.7', headers)).toEqual({ country: 'US', city: 'New York' });
  expect(geo.locate('2001:db8::7', headers)).toEqual({ country: 'US', city: 'New York' });
  expect(createGeo({ countryHeader: null, cityHeader: null }).locate('203.0.113.7', headers)).toEqual({
    country: null,
    city: null,
  });
  expect(createGeo({ countryHeader: 'x-country', cityHeader: null }).locate('203.0.113.7', headers).country).toBeNull();
});

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '192.168.1.1',
  '172.31.0.1',
  '100.64.0.1',
  '::1',
  'fd00::1',
  'fe80::1',
  'unknown',
  '',
])('the network address %j has no place', (address) => {
  const geo = createGeo({ countryHeader: 'cf-ipcountry', cityHeader: 'cf-ipcity' });
  expect(geo.locate(address, headers)).toEqual({ country: null, city: null });
});

it('valid country codes are read, and other values are ignored', () => {
  expect(countryOf(' de ')).toBe('DE');
  for (const value of [null, '', 'XX', 'T1', 'USA', 'U', '<a', '12']) expect(countryOf(value)).toBeNull();
});

it('city names are read in several encodings, and invalid ones are ignored', () => {
  expect(cityOf('S%C3%A3o%20Paulo')).toBe('São Paulo');
  expect(cityOf('SÃ£o Paulo')).toBe('São Paulo');
  expect(cityOf('Zürich')).toBe('Zürich');
  expect(cityOf('東京')).toBe('東京');
  expect(cityOf('100% Town')).toBe('100% Town');
  for (const value of [null, '', '-', 'x'.repeat(101), '<script>', 'a\u0000b']) expect(cityOf(value)).toBeNull();
});
