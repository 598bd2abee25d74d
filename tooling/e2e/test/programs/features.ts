import { serveStdio } from '@x/transport-stdio'
import { createFeatures } from '../../src/hop/features.ts'

serveStdio(createFeatures())
