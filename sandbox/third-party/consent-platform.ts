/** What the stand-in of a consent platform loads: IAB Tech Lab's modules, a vendor list, and whether the GDPR applies to the reader. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { json, type Route, text } from '../web.ts';
import { type Calls, readerOf } from './calls.ts';

const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };

/** The folder of a package's modules for browsers. */
const modulesOf = (name: string): string => path.dirname(fileURLToPath(import.meta.resolve(name)));
const packages = { cmpapi: '@iabtechlabtcf/cmpapi', core: '@iabtechlabtcf/core' } as const;

/** A list in the format of vendor-list.iabeurope.eu/v3/vendor-list.json, with Google and one other vendor. */
const vendorList = {
  gvlSpecificationVersion: 3,
  vendorListVersion: 120,
  tcfPolicyVersion: 5,
  lastUpdated: '2026-11-01T00:00:00Z',
  purposes: numbered(11),
  specialPurposes: numbered(3),
  features: numbered(3),
  specialFeatures: numbered(2),
  stacks: {},
  dataCategories: numbered(11),
  vendors: { 1: vendorOf(1), 755: vendorOf(755) },
};

function numbered(count: number) {
  const about = (id: number) => ({ id, name: `Number ${id}`, description: '', illustrations: [] });
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [at + 1, about(at + 1)]));
}

function vendorOf(id: number) {
  return {
    id,
    name: `Vendor ${id}`,
    purposes: [1, 3, 4],
    legIntPurposes: [2, 7, 9, 10],
    flexiblePurposes: [2, 7, 9, 10],
    specialPurposes: [1, 2],
    features: [1, 2],
    specialFeatures: [],
    cookieMaxAgeSeconds: 34_190_000,
    usesCookies: true,
    cookieRefresh: false,
    usesNonCookieAccess: false,
    dataRetention: { stdRetention: 30, purposes: {}, specialPurposes: {} },
    urls: [{ langId: 'en', privacy: 'https://vendor.example/privacy', legIntClaim: 'https://vendor.example/interest' }],
    dataDeclaration: [1],
  };
}

export function consentPlatformRoutes(calls: Calls): Route[] {
  return [
    {
      method: 'GET',
      path: /^\/cmp\/region$/,
      handle: ({ request }) => json({ applies: calls.mode(readerOf(request), 'cmp') !== 'empty' }, 200, corsHeaders),
    },
    { method: 'GET', path: /^\/cmp\/vendor-list\.json$/, handle: () => json(vendorList, 200, corsHeaders) },
    {
      method: 'GET',
      path: /^\/cmp\/modules\/(cmpapi|core)\/((?:\w+\/)*\w+\.js)$/,
      handle({ groups: [which = '', file = ''] }) {
        const whole = path.join(modulesOf(packages[which as keyof typeof packages]), file);
        if (!fs.existsSync(whole)) return text('Not found.\n', 404);
        // Browsers can't resolve packages by name.
        const body = fs.readFileSync(whole, 'utf8').replaceAll(`'${packages.core}'`, "'/cmp/modules/core/index.js'");
        return { headers: { 'content-type': 'text/javascript; charset=utf-8', ...corsHeaders }, body };
      },
    },
  ];
}
