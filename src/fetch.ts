/** Astro's own handling of a request, and what runs after it. */
import { astro, FetchState } from 'astro/fetch';

export default {
  async fetch(request: Request): Promise<Response> {
    const state = new FetchState(request);
    // An error anywhere in a page is the 500 page, which it cannot be once a part of it has been sent.
    state.streaming = false;
    const response = await astro(state);
    forget(state);
    return response;
  },
};

/**
 * Lets go of a page that has been made. Astro gives each state getters of its own, and V8 keeps the functions of such getters in its old
 * memory: the state stays until that is collected, which takes seconds, and so did the page's bytes. They filled the old memory so fast
 * that the collections of it took a tenth of a second out of every thirtieth publish (docs/decisions/0003, "Copies").
 */
function forget(state: FetchState): void {
  state.response = undefined;
  state.result = undefined;
}
