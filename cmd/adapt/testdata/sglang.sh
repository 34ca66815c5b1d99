# as it stands in a start script
python3 -m sglang_router.launch_router \
  --host 127.0.0.1 --port 30000 \
  --worker-urls http://10.0.0.21:30000 "http://10.0.0.22:30000" \
  --policy cache_aware --cache-threshold 0.5 --balance-abs-threshold=32 \
  --model-path /models/Qwen3-8B --dp-aware --log-level warning \
  --max-concurrent-requests 256 --queue-size 100 --queue-timeout-secs 20 \
  --retry-max-retries 2 --api-key not-to-be-shown --some-new-flag 7
