import type { App } from '@modelcontextprotocol/ext-apps'
import type { AppFrame, FrameMessage, HostWindow } from '../host/frame.ts'

type Transport = NonNullable<Parameters<App['connect']>[0]>

/** A frame outside of a browser, whose page speaks through a transport of the official package. */
export interface FakeFrame extends AppFrame {
  readonly attributes: Map<string, string>
  isRemoved: boolean
  readonly style: { height: string }
  readonly transport: Transport
  /** What the host sent to the page. */
  readonly received: { readonly message: { readonly method?: string }; readonly targetOrigin: string }[]
  /** Dispatches an event as a browser does. */
  post(event: Partial<FrameMessage>): void
  load(): void
}

/** In a document of `https://host.example`. */
export function createFakeFrame(): FakeFrame {
  const listeners = new Set<(event: FrameMessage) => void>()
  const loadListeners = new Set<() => void>()
  const hostWindow: HostWindow = {
    location: { origin: 'https://host.example' },
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener),
  }
  const transport: Transport = {
    start: async () => {},
    send: async (data) => frame.post({ data: structuredClone(data) }),
    close: async () => {},
  }
  const contentWindow = {
    postMessage(message: unknown, targetOrigin: string) {
      const data = structuredClone(message) as FakeFrame['received'][number]['message']
      frame.received.push({ message: data, targetOrigin })
      queueMicrotask(() => transport.onmessage?.(data as Parameters<NonNullable<Transport['onmessage']>>[0]))
    },
  }
  const attributes = new Map<string, string>()
  const frame: FakeFrame = {
    src: '',
    srcdoc: '',
    isConnected: false,
    isRemoved: false,
    contentWindow,
    style: { height: '' },
    ownerDocument: { defaultView: hostWindow },
    attributes,
    transport,
    received: [],
    setAttribute: (name, value) => void attributes.set(name, value),
    remove() {
      frame.isRemoved = true
    },
    addEventListener: (_, listener) => void loadListeners.add(listener),
    removeEventListener: (_, listener) => void loadListeners.delete(listener),
    post(event) {
      for (const listener of listeners) listener({ source: contentWindow, origin: 'null', data: undefined, ...event })
    },
    load() {
      for (const listener of loadListeners) listener()
    },
  }
  return frame
}
