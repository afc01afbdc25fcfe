/** Handles a request with Astro, and cleans up after it. */
import { astro, FetchState } from 'astro/fetch';

export default {
  async fetch(request: Request): Promise<Response> {
    const state = new FetchState(request);
    // Without streaming, an error anywhere in a page can still become the 500 page.
    state.streaming = false;
    const response = await astro(state);
    forget(state);
    return response;
  },
};

/**
 * Releases the memory of a rendered page. Astro gives each state its own getters, whose functions V8 keeps in its old generation: the
 * state, and with it the page's bytes, stayed until the next collection, seconds later. They filled the old generation so fast that its
 * collections took a tenth of a second out of every thirtieth publish (docs/decisions/0003, "Memory").
 */
function forget(state: FetchState): void {
  state.response = undefined;
  state.result = undefined;
}
