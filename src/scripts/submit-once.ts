/** Sends a form once: a second press would cancel the answer to the first, which may have used up what the form is for. */
export function submitOnce(form: HTMLFormElement): void {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener('pageshow', ({ persisted }) => {
    // The reader has come back to the page.
    if (persisted) isSent = false;
  });
}
