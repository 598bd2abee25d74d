import { serveLoad } from './connection.ts'

// A load for slices of a tenth of a second. autocannon ends on whole seconds.

serveLoad(async (connection, observations, call) => {
  const sentAt = performance.now()
  const { status } = await connection.post(call.body)
  if (status === 200) observations.times.push(performance.now() - sentAt)
  else observations.failures += 1
})
