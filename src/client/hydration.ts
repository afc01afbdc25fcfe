/**
 * What makes islands of `<astro-island>`: Astro's element and our directive. Astro writes both into each page that has an island; the build
 * (scripts/islands-in-a-file.ts) leaves them out there, and pages that have one load this file.
 */
import './hydration-directive.ts';
// The element starts its islands at once, so the directive comes first.
import 'astro/runtime/server/astro-island.js';
