import { Pool } from 'undici'
import { body, expectedText, headers } from '../http/call.ts'
import { serveCallLoad } from './call-load.ts'

// The minimum of a client: it sends a fixed text and parses the response.
serveCallLoad((url) => {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections: 16 })
  return async () => {
    const response = await pool.request({ path, method: 'POST', headers, body })
    const answer: { result: { content: { text: string }[] } } = JSON.parse(await response.body.text())
    return answer.result.content[0]?.text ?? ''
  }
}, expectedText)
