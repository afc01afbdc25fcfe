/** Gives the directive `client:interaction` to Astro's element, as Astro's own script in a page does. */
import interaction from './interaction.ts';

const scope = globalThis as typeof globalThis & { Astro?: Record<string, unknown> };
scope.Astro ??= {};
scope.Astro.interaction = interaction;
