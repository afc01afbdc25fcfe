/**
 * A sheet over the page: the platform's own modal dialog, which keeps the focus inside and makes the page behind it inert.
 * It closes on Escape, on a click beside it and by its button, and gives the focus back to where it was.
 */
import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { publication } from '../../publication.ts';
import styles from './Dialog.module.css';

interface Props {
  heading: ReactNode;
  /** A line beneath the heading. */
  standfirst?: string | undefined;
  /** What is inside has a heading of its own now: this one stays as the name of the sheet. */
  quiet?: boolean;
  /**
   * The script of somebody else draws a window over the page (a bank that asks): above a modal dialog nothing can be drawn, nor
   * pressed beside it, so that the sheet steps back among the page's own elements meanwhile.
   */
  aside?: boolean;
  children: ReactNode;
  onClose(): void;
}

/** Open as long as it is there. */
export function Dialog({ heading, standfirst, quiet = false, aside = false, children, onClose }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const pressedOutside = useRef(false);
  const swapping = useRef(false);
  const close = useRef(onClose);
  close.current = onClose;

  // Before the effects of what is inside, which may move the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const opener = document.activeElement;
    const release = holdPage();
    if (!element.open) element.showModal();
    return () => {
      element.close();
      release();
      giveBack(opener);
    };
  }, []);

  const stepped = useRef(aside);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element || stepped.current === aside) return;
    stepped.current = aside;
    const focused = document.activeElement;
    // Shut and opened in one go: what listens for its end is told of neither.
    swapping.current = true;
    element.close();
    if (aside) element.show();
    else element.showModal();
    if (focused instanceof HTMLElement && element.contains(focused)) focused.focus({ preventScroll: true });
  }, [aside]);

  /** Whether a pointer is beside the sheet; a click on the backdrop arrives at the dialog itself. */
  const isOutside = ({ target, clientX, clientY }: MouseEvent) => {
    const box = dialog.current?.getBoundingClientRect();
    if (!box || target !== dialog.current) return false;
    return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has Escape, which the dialog knows itself
    <dialog
      ref={dialog}
      className={aside ? `${styles.dialog} ${styles.aside}` : styles.dialog}
      aria-labelledby={`${id}-heading`}
      aria-describedby={standfirst && !quiet ? `${id}-standfirst` : undefined}
      onCancel={(event) => {
        // The state decides; a dialog that a browser shut by itself would stay shut while it says otherwise.
        event.preventDefault();
        close.current();
      }}
      onClose={(event) => {
        if (event.target !== dialog.current) return;
        if (swapping.current) swapping.current = false;
        else close.current();
      }}
      // A drag that began in a field and ended beside the sheet is no click beside it.
      onMouseDown={(event) => {
        pressedOutside.current = isOutside(event);
      }}
      onClick={(event) => {
        if (pressedOutside.current && isOutside(event)) close.current();
      }}
    >
      <div className={styles.sheet}>
        <div className={styles.head}>
          <p className={styles.nameplate} aria-hidden="true">
            {publication.name}
          </p>
          <h2 className={quiet ? 'visually-hidden' : styles.heading} id={`${id}-heading`}>
            {heading}
          </h2>
          {standfirst && !quiet && (
            <p className={styles.standfirst} id={`${id}-standfirst`}>
              {standfirst}
            </p>
          )}
        </div>
        <div className={styles.body}>{children}</div>
        <button type="button" className={styles.close} aria-label="Close" onClick={() => close.current()}>
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
            <path d="M4 4l12 12M16 4L4 16" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
          </svg>
        </button>
      </div>
    </dialog>
  );
}

/** Keeps the page behind from scrolling, and its scroll bar's room, so that nothing moves. */
export function holdPage(): () => void {
  const { style, clientWidth } = document.documentElement;
  const before = { overflow: style.overflow, padding: style.paddingInlineEnd };
  style.paddingInlineEnd = `${Math.max(0, window.innerWidth - clientWidth)}px`;
  style.overflow = 'hidden';
  return () => {
    style.overflow = before.overflow;
    style.paddingInlineEnd = before.padding;
  };
}

/** Puts the focus back, or, where its place is gone or hidden (Sign In becomes a menu), to that menu or the content. */
export function giveBack(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener !== document.body) opener.focus();
  // What is not there any more, or not shown, has not taken it.
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>('[data-account-menu]')?.focus({ preventScroll: true });
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
}
