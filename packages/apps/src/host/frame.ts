// What a host needs of the DOM. The package has no types of browsers, which programs on Node would get as well.

/** A frame, such as `document.createElement('iframe')`. */
export interface AppFrame {
  src: string
  srcdoc: string
  readonly isConnected: boolean
  readonly contentWindow: AppWindow | null
  readonly style: { height: string }
  readonly ownerDocument: { readonly defaultView: HostWindow | null }
  setAttribute(name: string, value: string): void
  remove(): void
  addEventListener(type: 'load', listener: () => void): void
  removeEventListener(type: 'load', listener: () => void): void
}

/** Window of a frame. */
export interface AppWindow {
  postMessage(message: unknown, targetOrigin: string): void
}

/** Window of the host's own page. */
export interface HostWindow {
  readonly location: { readonly origin: string }
  addEventListener(type: 'message', listener: (event: FrameMessage) => void): void
  removeEventListener(type: 'message', listener: (event: FrameMessage) => void): void
}

/** A message event. */
export interface FrameMessage {
  readonly data: unknown
  readonly origin: string
  readonly source: unknown
}
