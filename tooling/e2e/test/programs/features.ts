import { serveStdio } from '@x/transport-stdio'
import { createFeatures } from '../hop/features.ts'

serveStdio(createFeatures())
