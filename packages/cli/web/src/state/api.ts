import type { PanelEvent, StampedEvent } from '../../../src/dev/events.ts'

/** An event of the stream that a page reads. */
export type PageEvent = StampedEvent | PanelEvent

/** The command behind the page. */
export interface Api {
  /** Sends a command, and returns its response. Rejects with the message of the command if it is refused. */
  post(path: string, body?: object): Promise<unknown>
  /**
   * Passes the events of the command to `onEvents`, in batches. Resolves when the stream has ended, with `refused` if the
   * address has no valid token.
   */
  read(onEvents: (events: readonly PageEvent[]) => void): Promise<'ended' | 'refused'>
}

/** Creates the API of the command that has served this page. */
export function createApi(token: string): Api {
  const headers = { authorization: `Bearer ${token}` }
  return {
    post: async (path, body = {}) => {
      const response = await fetch(`/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const result: unknown = await response.json()
      if (response.ok) return result
      throw new Error(String(Object(result).error))
    },
    read: async (onEvents) => {
      const response = await fetch('/api/events', { headers })
      if (response.status === 401) return 'refused'
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let rest = ''
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        const texts = (rest + part.value).split('\n\n')
        rest = texts.pop() ?? ''
        const events = texts.flatMap((text) => (text.startsWith('data: ') ? [parseEvent(text.slice(6))] : []))
        if (events.length > 0) onEvents(events)
      }
      return 'ended'
    },
  }
}

/** The command is of the same version as the page, so the shape of its events is not checked again. */
function parseEvent(text: string): PageEvent {
  return JSON.parse(text)
}
