/** A promise that a test settles by hand, in place of waiting for some time. */
export interface Gate<T = void> {
  readonly opened: Promise<T>
  open(value: T): void
}

/** Makes a gate that is closed. */
export function createGate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open: (value) => open(value) }
}
