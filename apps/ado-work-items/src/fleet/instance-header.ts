import type { PageHandler } from '@apps/front/serve-page'
import type { Instance } from './instance-meta.ts'

const headerName = 'x-instance'

/**
 * Adds the header `X-Instance` to every response, and calls `next`. A question to a client of an older revision is a
 * request, so its `_meta` does not name the instance.
 */
export function addInstanceHeader({ id, pid }: Instance, next: PageHandler): PageHandler {
  return (request, response) => {
    response.setHeader(headerName, `${id}; pid=${pid}`)
    return next(request, response)
  }
}

/** Returns the instance that the headers of a response name. */
export function readInstanceHeader(headers: Headers): Instance | undefined {
  const [, id, pid] = /^(\d{1,9}); pid=(\d{1,9})$/.exec(headers.get(headerName) ?? '') ?? []
  return id === undefined || pid === undefined ? undefined : { id: Number(id), pid: Number(pid) }
}
