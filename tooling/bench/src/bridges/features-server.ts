import { createFeatures } from '@tooling/e2e/dist/hop/features.js'
import { serveStdio } from '@x/transport-stdio'

serveStdio(createFeatures())
