/**
 * Makes islands of `<astro-island>`: Astro's element and our directive. Astro would write both into each page that has an island; the build
 * (scripts/islands-in-a-file.ts) removes them there, and pages with islands load this file instead.
 */
import './hydration-directive.ts';
// The element starts its islands at once, so the directive comes first.
import 'astro/runtime/server/astro-island.js';
