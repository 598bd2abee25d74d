import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { serveStdio } from '@x/transport-stdio'

// The target and the revision of the upstream, as JSON.
const { target, revision } = JSON.parse(process.argv[2] ?? '{}')
serveStdio(
  proxy(
    { connect: () => connectAny(target, { revision }) },
    { name: 'features', version: '1.0.0', extensions: [legacy()] },
  ),
)
