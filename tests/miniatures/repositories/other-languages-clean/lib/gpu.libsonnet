{ gpu: { nodeSelector: {} } }
