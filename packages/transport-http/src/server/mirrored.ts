import type { MirroredHeaders } from '@x/schema'
import type { RequestView } from './request-view.ts'

const prefix = 'mcp-param-'

/** The `Mcp-Param-*` headers of a request by the rest of their names, still encoded; read when they are asked for. */
export function mirroredHeaders(view: RequestView): MirroredHeaders {
  return {
    get: (name) => view.header(prefix + name.toLowerCase()),
    forEach(visit) {
      view.forEachHeader((value, name) => {
        if (name.startsWith(prefix)) visit(value, name.slice(prefix.length))
      })
    },
  }
}
