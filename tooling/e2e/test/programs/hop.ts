import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { serveStdio } from '@x/transport-stdio'

// The target and the era of the upstream, as JSON.
const { target, era } = JSON.parse(process.argv[2] ?? '{}')
serveStdio(
  proxy({ connect: () => connectAny(target, { era }) }, { name: 'features', version: '1.0.0', extensions: [legacy()] }),
)
