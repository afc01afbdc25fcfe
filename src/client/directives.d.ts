declare module 'astro' {
  interface AstroClientDirectives {
    /** Hydrates on the first pointer, key or focus within the island; see interaction.ts. */
    'client:interaction'?: boolean | 'or-idle-when-signed-in' | 'or-resumed' | 'or-seen-for-a-minute';
  }
}

export {};
