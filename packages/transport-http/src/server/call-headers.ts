import type { CallHeaders } from '@x/schema'
import { type Reply, setReplyHeader } from './reply.ts'
import type { RequestView } from './request-view.ts'

const prefix = 'mcp-'
const nameForm = /^mcp-[!#$%&'*+.^_`|~0-9a-z-]+$/i
const visible = /^[\x21-\x7e]*$/

/** The `Mcp-*` headers of a request and, as long as its answer has not begun, of that; all others are no business of an exchange. */
export function callHeaders(view: RequestView, reply: Reply): CallHeaders {
  return {
    get(name) {
      const lower = name.toLowerCase()
      return lower.startsWith(prefix) ? view.header(lower) : undefined
    },
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(prefix)) visit(value, name)
      })
    },
    answer(name, value) {
      if (!nameForm.test(name))
        throw new TypeError(`${JSON.stringify(name)} is no header for an exchange: begin its name with Mcp-`)
      if (!visible.test(value)) throw new TypeError(`The value for the header ${name} must be visible ASCII`)
      setReplyHeader(reply, name, value)
    },
  }
}
