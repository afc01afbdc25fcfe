/** Astro integration that makes `client:interaction` known (see interaction.ts). */
import type { AstroIntegration } from 'astro';

export const interactionDirective = (): AstroIntegration => ({
  name: 'broadsheet:interaction',
  hooks: {
    'astro:config:setup': ({ addClientDirective }) => {
      addClientDirective({ name: 'interaction', entrypoint: './src/client/interaction.ts' });
    },
  },
});
