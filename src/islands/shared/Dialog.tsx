/**
 * A sheet over the page: the browser's modal dialog, which keeps the focus inside and makes the page behind it inert.
 * It closes on Escape, on a click outside it and by its button, and returns the focus.
 */
import { type MouseEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { afterPaint } from '../../lib/when-shown.ts';
import { publication } from '../../publication.ts';
import styles from './Dialog.module.css';

interface Props {
  heading: ReactNode;
  /** A line beneath the heading. */
  standfirst?: string | undefined;
  /** The content has its own heading: this one is only the sheet's accessible name. */
  quiet?: boolean;
  /**
   * Another site's script shows a window over the page, such as a bank's confirmation. Nothing can be shown or clicked above a
   * modal dialog, so the sheet is not modal during that time.
   */
  aside?: boolean;
  children: ReactNode;
  /** `null` while the reader can't close the sheet. */
  onClose: (() => void) | null;
}

/** Open for as long as it is rendered. */
export function Dialog({ heading, standfirst, quiet = false, aside = false, children, onClose }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const pressedOutside = useRef(false);
  const close = useRef(onClose);
  close.current = onClose;
  const leave = () => closeAfterPaint(dialog.current, close.current);

  useModal(dialog);
  const swapping = useAside(dialog, aside);

  /** Whether a pointer is outside the sheet; the target of a click on the backdrop is the dialog itself. */
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
        // The owner's state decides: otherwise a dialog that the browser closed would stay closed although the state says open.
        event.preventDefault();
        leave();
      }}
      onClose={(event) => {
        if (event.target !== dialog.current) return;
        if (swapping.current) swapping.current = false;
        else if (close.current) close.current();
        // Browsers close a dialog at the second Escape in a row, whatever its owner prevents.
        else if (aside) event.currentTarget.show();
        else event.currentTarget.showModal();
      }}
      // A drag that starts in a field and ends outside the sheet isn't a click outside it.
      onMouseDown={(event) => {
        pressedOutside.current = isOutside(event);
      }}
      onClick={(event) => {
        if (pressedOutside.current && isOutside(event)) leave();
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
        <button type="button" className={styles.close} aria-label="Close" onClick={leave}>
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
            <path d="M4 4l12 12M16 4L4 16" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
          </svg>
        </button>
      </div>
    </dialog>
  );
}

/** Shows the dialog as a modal for as long as it is rendered, and puts the focus back when it goes. */
export function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  // A layout effect runs before the effects of the content, which may move the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const opener = document.activeElement;
    const release = holdPage();
    if (!element.open) element.showModal();
    return () => {
      element.close();
      release();
      restoreFocus(opener);
    };
  }, [dialog]);
}

/**
 * Marks a modal dialog as closing, so that styles make it and its backdrop transparent at once; its owner removes it after the next
 * frame. When it is inert, removed or no longer rendered, the browser lays out the whole page, which readers would wait for.
 */
export function closeAfterPaint(dialog: HTMLDialogElement | null, onClose: (() => void) | null): void {
  if (!dialog || !onClose) return;
  dialog.toggleAttribute('data-closing', true);
  afterPaint(() => {
    onClose();
    // React may keep the element for another sheet.
    dialog.toggleAttribute('data-closing', false);
  });
}

/** Changes between modal and not. @returns whether such a change closed the dialog, so that its `close` event is ignored */
function useAside(dialog: RefObject<HTMLDialogElement | null>, aside: boolean): RefObject<boolean> {
  const swapping = useRef(false);
  const stepped = useRef(aside);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element || stepped.current === aside) return;
    stepped.current = aside;
    const focused = document.activeElement;
    swapping.current = true;
    element.close();
    if (aside) element.show();
    else element.showModal();
    if (focused instanceof HTMLElement && element.contains(focused)) focused.focus({ preventScroll: true });
  }, [dialog, aside]);
  return swapping;
}

/** Stops the page behind from scrolling and keeps the space of its scroll bar, so that nothing moves. */
function holdPage(): () => void {
  const { style, clientWidth } = document.documentElement;
  const before = { overflow: style.overflow, padding: style.paddingInlineEnd };
  style.paddingInlineEnd = `${Math.max(0, window.innerWidth - clientWidth)}px`;
  style.overflow = 'hidden';
  return () => {
    style.overflow = before.overflow;
    style.paddingInlineEnd = before.padding;
  };
}

/** Returns the focus. If the opener is gone or hidden (Sign In becomes a menu), the menu or the content gets it. */
function restoreFocus(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener !== document.body) opener.focus();
  // An element that was removed or is hidden can't take the focus.
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>('[data-account-menu]')?.focus({ preventScroll: true });
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
}
